"""The messages of this pack, written by protoc from the .proto files beside them."""
