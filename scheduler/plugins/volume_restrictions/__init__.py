"""VolumeRestrictions: volumes that two pods cannot have at the same time, on one node or anywhere."""

from scheduler.plugins.volume_restrictions.volume_restrictions import VolumeRestrictions

__all__ = ["VolumeRestrictions"]
