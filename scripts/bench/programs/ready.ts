/** `ready <fifo>`: the smallest program that reports its start; then waits forever. */
import { closeSync, openSync, writeSync } from "node:fs";

const fifo = openSync(process.argv[2] ?? "", "r+");
writeSync(fifo, "\n");
closeSync(fifo);
setInterval(() => undefined, 2 ** 31 - 1);
