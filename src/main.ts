import { runProgram } from "./cli/program.ts";
import { EXIT } from "./errors.ts";
import { neverEndUnfinished, processIo } from "./terminal/process-io.ts";

const end = (status: number): never => process.exit(status);
const io = processIo(end);
neverEndUnfinished(end);
runProgram(io).then(async (code) => {
  await io.flushed();
  io.dieOfSignal(code);
  // Ends even if a bell or a socket is still open.
  end(io.outputLost ? EXIT.failed : code);
});
