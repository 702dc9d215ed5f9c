/** `echo <in> <out>`: returns every byte of one FIFO through another. */
import { openSync, writeSync } from "node:fs";
import { openFifoBell } from "../../../src/wakeup/fifo-bell.ts";

const [, , from = "", to = ""] = process.argv;
const bell = openFifoBell(from);
const back = openSync(to, "r+");
console.log("ready");
for (;;) {
  await bell.wait();
  writeSync(back, "\n");
}
