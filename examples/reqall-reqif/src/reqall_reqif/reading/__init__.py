"""From files to what they say: unpacking, XML, the dialects of exporters, values."""
