"""What reads and writes bags, by rosbags; imported when a calculator is opened."""
