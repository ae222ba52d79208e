"""What several plugins share: judging distinct things once, Go's integers, taints, node selection, queueing hints."""
