/** `echo <in> <out>`: sends every byte that comes out of one FIFO back through another. */
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
