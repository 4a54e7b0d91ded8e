"""Programs written for MediaPipe's Python package run on Penstock after one changed import: `import penstock_mediapipe as mp`."""
