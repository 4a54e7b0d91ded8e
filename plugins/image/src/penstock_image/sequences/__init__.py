"""Images, labels, boxes and features over time as one record, which trainings read."""
