"""What surprised users of kube-scheduler: each case as its issue tells it, and what kube-scheduler 1.36 answers.

Most are no bugs: rules that work as designed where people expect something else. Numbers are issues of kubernetes/kubernetes.
"""
