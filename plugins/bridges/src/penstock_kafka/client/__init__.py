"""What speaks with the brokers, by confluent-kafka; imported when a calculator is opened."""
