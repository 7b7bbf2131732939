// Go accepts nanotime, which has no body, only beside an assembly file.
