import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/os/clock.ts";
import { addSecrets } from "../../../src/os/redact.ts";
import { createStatusKeeper } from "../../../src/worker/status-record.ts";
import { statusOf } from "../../support/team/status-records.ts";
import { testTeam } from "../../support/team/test-team.ts";

test("status record › contains no part of a secret that truncation would cut (S75)", async () => {
  const ref = await testTeam(["dev"]);
  const { sessionId, transcript, process: own } = statusOf();
  const facts = { sessionId, transcript, process: own };
  const status = createStatusKeeper(ref, "dev", facts, undefined, systemClock);
  const secret = "sesame-7f3a9c1e-open";
  addSecrets({ STATUS_TEST_TOKEN: secret });
  status.setActivity(`${"x".repeat(190)} ${secret}`);
  const written = readFileSync(ref.paths.agent("dev").status, "utf8");
  expect(written).toContain("xxx");
  expect(written).not.toContain("sesame");
});
