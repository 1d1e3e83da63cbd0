"""The parts of the demonstration: people, study, device, figures, page."""
