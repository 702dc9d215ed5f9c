import { processIo } from "./cli/process-io.ts";
import { runProgram } from "./cli/program.ts";
import { EXIT } from "./errors.ts";

const io = processIo((status) => process.exit(status));
runProgram(io).then(async (code) => {
  await io.flushed();
  io.dieOfHangup();
  // What else is open (a bell, a socket) holds nobody back.
  process.exit(io.outputLost ? EXIT.failed : code);
});
