import { tmpdir } from "node:os";
import { afterEach } from "vitest";
import { processReport } from "../processes/process-report.ts";

/** Shows the processes of a failed test before its clean-up, so that it need not run again. `privateTmux` shows its screens and events. */
afterEach(({ task }) => {
  if (task.result?.state === "fail") console.error(processReport(tmpdir()));
});
