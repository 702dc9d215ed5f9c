import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../../../../src/os/process/run.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { script } from "../../../support/processes/script-process.ts";

const writeBeyond = script("processes/write-over-limit", ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]);

test("file size limit › causes EFBIG instead of a fatal signal, even after a program was run", async () => {
  const started = writeBeyond(join(temporaryDirectory(), "file"));
  expect(await started.line()).toBe("EFBIG");
  expect(await started.ended()).toMatchObject({ code: 0, signal: null });
});

test("run › tells a program that cannot be started from a missing one, with the reason of the system", async () => {
  const path = "/no/such/program";
  const missing = await run(path, []);
  expect(missing).toMatchObject({ failure: "not-found", stdout: "", stderr: `spawn ${path} ENOENT` });
  const unstarted = await run("true", ["x".repeat(4 * 1024 * 1024)]);
  expect(unstarted).toMatchObject({ failure: "not-started", stdout: "", stderr: "spawn E2BIG" });
});
