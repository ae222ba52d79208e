"""What several plugins share: judging distinct things once, normalizing, taints, node selection, queueing hints."""
