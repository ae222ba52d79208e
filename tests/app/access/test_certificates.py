"""Client certificates: whose they are, and what is no good about them."""

import http.client
import os
import shutil
import socket
import ssl
import subprocess
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, ObjectIdentifier

from scheduler.sandbox import Sandbox
from scheduler.serving.authentication.authorities import Authorities
from scheduler.serving.authentication.verification import verify
from tests.app.access.conftest import DEADLINE, Flags
from tests.app.access.people import Authority


@pytest.fixture(scope="module")
def people() -> Authority:
    return Authority()


@pytest.fixture
def ca_file(people: Authority, tmp_path: Path) -> Path:
    return people.write(tmp_path / "ca.crt")


def test_common_name_is_the_user(port: Flags, people: Authority, ca_file: Path, tmp_path: Path) -> None:
    asked = port(f"--client-ca-file={ca_file}")
    assert asked.refused(person=people.person(tmp_path, "jane")) == "jane"
    assert asked.refused() == "system:anonymous"


def test_organizations_are_the_groups(port: Flags, people: Authority, ca_file: Path, tmp_path: Path) -> None:
    admin = people.person(tmp_path, "root", ["ops", "system:masters"])
    assert port(f"--client-ca-file={ca_file}").ask(person=admin)[0] == 200


def test_everything_about_the_user_goes_into_the_review(
    sandbox: Sandbox, port: Flags, people: Authority, ca_file: Path, tmp_path: Path
) -> None:
    person = people.person(tmp_path, "jane", ["ops", "dev"], uids=["u-1"])
    port(f"--client-ca-file={ca_file}", authz=True).refused(person=person)
    spec = sandbox.access.asked[-1]
    assert [spec["user"], spec["uid"], spec["groups"]] == [
        "jane",
        "u-1",
        ["ops", "dev", "system:authenticated"],
    ]
    (credential,) = spec["extra"]["authentication.kubernetes.io/credential-id"]
    assert credential.startswith("X509SHA256=")
    assert len(credential) == len("X509SHA256=") + 64


def test_unique_ids_are_behind_their_gate(
    sandbox: Sandbox, port: Flags, people: Authority, ca_file: Path, tmp_path: Path
) -> None:
    gate = "--feature-gates=AllowParsingUserUIDFromCertAuth=false"
    person = people.person(tmp_path, "jane", uids=["u-1"])
    port(f"--client-ca-file={ca_file}", gate, authz=True).refused(person=person)
    assert "uid" not in sandbox.access.asked[-1]


@pytest.mark.parametrize(
    ("usages", "valid_for"),
    [
        pytest.param((ExtendedKeyUsageOID.SERVER_AUTH,), timedelta(days=1), id="for servers"),
        pytest.param((ExtendedKeyUsageOID.CLIENT_AUTH,), timedelta(days=-1), id="expired"),
    ],
)
def test_a_certificate_that_is_no_good_is_unauthorized(
    port: Flags,
    people: Authority,
    ca_file: Path,
    tmp_path: Path,
    usages: tuple[ObjectIdentifier, ...],
    valid_for: timedelta,
) -> None:
    person = people.person(tmp_path, "jane", usages=usages, valid_for=valid_for)
    assert port(f"--client-ca-file={ca_file}").ask("/healthz", person=person)[0] == 401


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl program")
@pytest.mark.parametrize(("digest", "fault"), [("sha1", "insecure algorithm"), ("sha256", None)])
def test_a_signature_over_sha_1_proves_nothing(
    people: Authority, tmp_path: Path, digest: str, fault: str | None
) -> None:
    person = x509.load_pem_x509_certificate(resigned(people, tmp_path, digest).read_bytes())
    found = verify([person], Authorities((people.certificate,)))
    assert found is None if fault is None else fault in str(found)


def resigned(people: Authority, folder: Path, digest: str) -> Path:
    """A certificate that ``openssl`` signs: the library refuses to sign over SHA-1."""
    authority, path = folder / "authority.pem", folder / f"{digest}.pem"
    authority.write_bytes(people.pem + people.key_pem)
    shell = (
        f"openssl req -new -newkey rsa:2048 -nodes -subj /CN=jane -keyout key.pem -out request.pem && "
        f"openssl x509 -req -in request.pem -CA authority.pem -CAkey authority.pem -{digest} -days 1 -out {path}"
        f" && cat key.pem >> {path}"
    )
    subprocess.run(["bash", "-c", shell], cwd=folder, check=True, capture_output=True, timeout=DEADLINE)
    return path


def test_a_certificate_of_an_unknown_authority_is_unauthorized_with_a_status(
    port: Flags, ca_file: Path, tmp_path: Path
) -> None:
    stranger = Authority("others").person(tmp_path, "jane")
    status, text = port(f"--client-ca-file={ca_file}").ask("/healthz", person=stranger)
    assert status == 401
    assert text == (
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized",'
        '"reason":"Unauthorized","code":401}\n'
    )


def test_a_certificate_of_the_same_name_from_another_authority_is_unauthorized(
    port: Flags, ca_file: Path, tmp_path: Path
) -> None:
    impostor = Authority("people").person(tmp_path, "jane", ["system:masters"])
    assert port(f"--client-ca-file={ca_file}").ask(person=impostor)[0] == 401


@pytest.mark.parametrize(
    "usages",
    [
        (),
        (ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,),
        (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH),
    ],
    ids=["none", "any", "clients among others"],
)
def test_usages_that_include_clients(
    port: Flags, people: Authority, ca_file: Path, tmp_path: Path, usages: tuple[ObjectIdentifier, ...]
) -> None:
    person = people.person(tmp_path, "jane", usages=usages)
    assert port(f"--client-ca-file={ca_file}").refused(person=person) == "jane"


def test_a_certificate_without_a_common_name_is_nobodys(
    port: Flags, people: Authority, ca_file: Path, tmp_path: Path
) -> None:
    person = people.person(tmp_path, "", ["system:masters"])
    assert port(f"--client-ca-file={ca_file}").refused(person=person) == "system:anonymous"


@pytest.mark.parametrize("uids", [["a", "b"], [" "]], ids=["several", "blank"])
def test_unique_ids_that_are_none(
    port: Flags, people: Authority, ca_file: Path, tmp_path: Path, uids: list[str]
) -> None:
    person = people.person(tmp_path, "jane", uids=uids)
    expected = "401" if len(uids) > 1 else "jane"
    assert port(f"--client-ca-file={ca_file}").refused(person=person) == expected


def test_a_chain_that_comes_along_is_followed(
    port: Flags, people: Authority, ca_file: Path, tmp_path: Path
) -> None:
    person = Authority("department", people).person(tmp_path, "jane")
    assert port(f"--client-ca-file={ca_file}").refused(person=person) == "jane"


def test_an_authority_below_a_root_may_be_trusted_alone(
    port: Flags, people: Authority, tmp_path: Path
) -> None:
    department = Authority("department", people)
    asked = port(f"--client-ca-file={department.write(tmp_path / 'department.crt')}")
    assert asked.refused(person=department.person(tmp_path, "jane")) == "jane"
    assert asked.refused(person=people.person(tmp_path, "joe")) == "401"


def test_without_authorities_a_certificate_says_nothing(port: Flags, tmp_path: Path) -> None:
    assert port().refused(person=Authority().person(tmp_path, "jane")) == "system:anonymous"


def test_a_bad_certificate_beside_a_good_token_does_no_harm(
    port: Flags, ca_file: Path, tmp_path: Path
) -> None:
    stranger = Authority("others").person(tmp_path, "joe")
    asked = port(f"--client-ca-file={ca_file}", "--authentication-skip-lookup", authn=True)
    assert asked.refused(person=stranger, token="t0ken") == "jane"


def test_every_request_of_a_connection_is_decided_anew(
    port: Flags, people: Authority, ca_file: Path, tmp_path: Path
) -> None:
    asked = port(f"--client-ca-file={ca_file}")
    with closing(asked.connect(people.person(tmp_path, "root", ["system:masters"]))) as client:
        client.request("GET", "/metrics")
        answer = client.getresponse()
        answer.read()
        Authority("new").write(ca_file)
        client.request("GET", "/metrics")
        assert (answer.status, client.getresponse().status) == (200, 401)


def test_a_bundle_that_a_kubelet_replaces_counts_from_the_next_request(
    port: Flags, people: Authority, tmp_path: Path
) -> None:
    swap(tmp_path, "first", people)
    (tmp_path / "ca.crt").symlink_to("..data/ca.crt")
    asked = port(f"--client-ca-file={tmp_path / 'ca.crt'}")
    new = Authority("new")
    assert asked.refused(person=new.person(tmp_path, "jane")) == "401"
    swap(tmp_path, "second", new)
    assert asked.refused(person=new.person(tmp_path, "jane")) == "jane"


def swap(volume: Path, name: str, authority: Authority) -> None:
    (volume / name).mkdir()
    authority.write(volume / name / "ca.crt")
    (volume / "..data_tmp").symlink_to(name)
    (volume / "..data_tmp").replace(volume / "..data")


def test_a_bundle_that_breaks_leaves_the_last_good_one(
    port: Flags, people: Authority, ca_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked = port(f"--client-ca-file={ca_file}")
    ca_file.write_text("nothing")
    assert asked.refused(person=people.person(tmp_path, "jane")) == "jane"
    assert "the last good client CA bundle stays in use" in caplog.text


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl program")
def test_clients_are_told_whose_certificates_to_show(port: Flags, ca_file: Path) -> None:
    said = s_client(port(f"--client-ca-file={ca_file}").server.port)
    assert "Acceptable client certificate CA names" in said
    assert "CN = people" in said or "CN=people" in said
    assert "No client certificate CA names sent" in s_client(port().server.port)


def s_client(number: int) -> str:
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{number}"]
    return subprocess.run(command, input="", capture_output=True, text=True, timeout=DEADLINE).stdout


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl program")
def test_curl_gets_an_indented_status(port: Flags, people: Authority, ca_file: Path, tmp_path: Path) -> None:
    asked = port(f"--client-ca-file={ca_file}")
    person = people.person(tmp_path, "jane")
    command = ["curl", "-sk", "--cert", str(person), f"https://127.0.0.1:{asked.server.port}/metrics"]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE).stdout
    assert '\n  "message": "forbidden: User \\"jane\\" cannot get path \\"/metrics\\"",\n' in printed


def test_a_client_that_breaks_off_the_handshake_harms_nobody(
    port: Flags, people: Authority, ca_file: Path, tmp_path: Path
) -> None:
    asked = port(f"--client-ca-file={ca_file}")
    with socket.create_connection(("127.0.0.1", asked.server.port), timeout=DEADLINE) as client:
        client.sendall(os.urandom(64))
    context = ssl.create_default_context()
    distrustful = http.client.HTTPSConnection(
        "localhost", asked.server.port, context=context, timeout=DEADLINE
    )
    with closing(distrustful), pytest.raises(ssl.SSLCertVerificationError):
        distrustful.request("GET", "/healthz")
    assert asked.refused(person=people.person(tmp_path, "jane")) == "jane"
