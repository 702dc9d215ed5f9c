import { tmpdir } from "node:os";
import { afterEach } from "vitest";
import { processReport } from "../processes/process-report.ts";

/** Prints the processes of a failed test before its clean-up, which a second run might not show. `privateTmux` prints screens and events. */
afterEach(({ task }) => {
  if (task.result?.state === "fail") console.error(processReport(tmpdir()));
});
