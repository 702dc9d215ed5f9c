import { processIo } from "./cli/process-io.ts";
import { runProgram } from "./cli/program.ts";
import { EXIT } from "./errors.ts";

runProgram(processIo(() => process.exit(EXIT.done))).then((code) => {
  // What was written may still be on its way; what else is open (a bell, a socket) holds nobody back.
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
});
