"""``/debug/pprof/``: where the process spends its time, in the formats that Go's tools and speedscope open.

* ``sampler``: stacks of the running threads with the CPU time that they took
* ``profile``: samples as a gzipped ``profile.proto``, which ``go tool pprof`` and speedscope read
* ``timeline``: samples as trace events, which Perfetto, ``chrome://tracing`` and speedscope read
* ``routes``: the endpoints

No package that writes pprof's format is still looked after, so it is written with ``protobuf`` from the published message definitions.
"""

from scheduler.serving.pprof.routes import profiling

__all__ = ["profiling"]
