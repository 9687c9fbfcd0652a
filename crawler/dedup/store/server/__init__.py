"""Servers: their URLs, connections and faults, and the private one."""
