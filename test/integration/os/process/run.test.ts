import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { script } from "../../../support/processes/script-process.ts";

const writeBeyond = script("processes/write-over-limit", ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]);

test("file size limit › causes EFBIG instead of a fatal signal, even after a program was run", async () => {
  const started = writeBeyond(join(temporaryDirectory(), "file"));
  expect(await started.line()).toBe("EFBIG");
  expect(await started.ended()).toMatchObject({ code: 0, signal: null });
});
