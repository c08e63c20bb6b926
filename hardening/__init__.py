"""Bad days, endlessly: damaged files, kills, full disks, hostile texts. ``make harden`` runs it."""
