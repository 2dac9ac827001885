"""A record as something people look at: one HTML file that needs nothing else, three pictures, numbers for the documents."""
