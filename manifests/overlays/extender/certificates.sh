#!/bin/sh
# Certificates for the extender: a CA of its own, and a serving certificate for the Service, in the Secret that the Deployment mounts.
#
#   certificates.sh [DIRECTORY [ADDRESS...]]
#
# DIRECTORY (default: ./wharfinger-certificates) keeps ca.crt, which kube-scheduler gets as its caFile, and ca.key, with which a later run signs anew: keep
# it to yourself. ADDRESSES: more names or IP addresses by which kube-scheduler calls, such as the Service's cluster IP. Needs openssl and kubectl; the
# certificate is good for a year, and running this again replaces it (the extender notices by itself).
set -eu

umask 077
directory=${1:-wharfinger-certificates}
[ $# -eq 0 ] || shift
namespace=wharfinger-system
service=wharfinger-extender
names="DNS:$service.$namespace.svc,DNS:$service.$namespace.svc.cluster.local"
for address in "$@"; do
  case $address in
    *[!0-9.]*) case $address in *:*) names="$names,IP:$address" ;; *) names="$names,DNS:$address" ;; esac ;;
    *) names="$names,IP:$address" ;;
  esac
done

mkdir -p "$directory"
cd "$directory"
if [ ! -e ca.key ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -keyout ca.key -out ca.crt \
    -subj "/CN=$service-ca" -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
fi
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout tls.key -out tls.csr -subj "/CN=$service"
cat > tls.ext <<END
subjectAltName=$names
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth
END
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile tls.ext -out tls.crt
rm tls.csr tls.ext

kubectl get namespace "$namespace" > /dev/null 2>&1 || kubectl create namespace "$namespace"
kubectl -n "$namespace" create secret tls "$service-tls" --cert=tls.crt --key=tls.key --dry-run=client -o yaml | kubectl apply -f -
echo "caFile for kube-scheduler: $directory/ca.crt"
