"""What speaks with the broker, by paho-mqtt; imported when a calculator is opened."""
