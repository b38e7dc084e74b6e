package main

func removeProgram() {}
