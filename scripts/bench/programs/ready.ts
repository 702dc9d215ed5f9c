/** `ready <fifo>`: the emptiest program that says that it runs, and then waits for ever. */
import { closeSync, openSync, writeSync } from "node:fs";

const fifo = openSync(process.argv[2] ?? "", "r+");
writeSync(fifo, "\n");
closeSync(fifo);
setInterval(() => undefined, 2 ** 31 - 1);
