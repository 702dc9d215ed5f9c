import { processIo } from "./cli/process-io.ts";
import { runProgram } from "./cli/program.ts";
import { EXIT } from "./errors.ts";

const io = processIo(() => process.exit(EXIT.done));
runProgram(io).then(async (code) => {
  await io.flushed();
  io.dieOfHangup();
  // What else is open (a bell, a socket) holds nobody back.
  process.exit(code);
});
