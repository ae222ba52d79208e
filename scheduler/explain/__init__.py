"""Explanations: what this scheduler would decide for one pod in one state of a cluster, and why, with nothing done about it.

* ``objects``: documents of any kind -> typed objects, each fault with its place
* ``cluster``, ``completion``: manifests of any kind -> the objects, with what a server would fill in
* ``workload_pods``: a workload -> the pods that its controller would make
* ``profiles``: a configuration and a ``schedulerName`` -> the framework that judges
* ``world``: objects, pod and framework -> a cluster as the watches would have filled it
* ``answers``: the world -> the answer: verdicts, reasons, scores, victims, and the sentence that kube-scheduler writes

The shape of scenarios and answers is the one in which kube-scheduler's own answers are recorded (``docs/explain.md``), so that both can
be compared field by field.
"""
