"use strict";
/* Before anything is drawn: what only pages without scripts show is never laid out. */
document.documentElement.classList.add("js");
