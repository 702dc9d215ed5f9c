import { runProgram } from "./cli/program.ts";
import { EXIT } from "./errors.ts";
import { neverEndUnfinished, processIo } from "./terminal/process-io.ts";

const end = (status: number): never => process.exit(status);
const io = processIo(end);
neverEndUnfinished(end);
runProgram(io).then(async (code) => {
  await io.flushed();
  io.dieOfSignal();
  // What else is open (a bell, a socket) holds nobody back.
  end(io.outputLost ? EXIT.failed : code);
});
