import { mkdirSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { Backend } from "../../../src/backend/backend.ts";
import { inProcessBackend } from "../../../src/backend/in-process/in-process-backend.ts";
import { processBackend } from "../../../src/backend/process-backend.ts";
import { programWorker } from "../../support/backend/program-worker.ts";
import { requestFor } from "../../support/backend/spawn-requests.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

test.each<[string, () => Backend]>([
  ["child processes", () => processBackend()],
  ["the lead's process", () => inProcessBackend({ runWorker: programWorker })],
])("spawn in %s › fails only the teammate whose log file cannot be created", async (_where, open) => {
  const t = privateTmux();
  const backend = open();
  const requests = ["ada", "bob", "cora"].map((name) => requestFor(t, name));
  const [ada, bob, cora] = requests.map(({ paths }) => paths);
  mkdirSync(bob?.log ?? "", { recursive: true });
  const outcomes = await backend.spawn(requests, { kind: "team-window" });
  expect(outcomes.map(({ name, ok }) => `${name} ${ok}`)).toEqual(["ada true", "bob false", "cora true"]);
  expect(outcomes[1]).toMatchObject({
    error: { code: "SPAWN_FAILED", message: expect.stringContaining("output log") },
  });
  expect(readdirSync(bob?.run ?? "")).toEqual(["output.log"]);
  expect([ada, cora].every((paths) => readdirSync(paths?.run ?? "").includes("status.json"))).toBe(true);
  const places = outcomes.flatMap((one) => (one.ok ? [one.place] : []));
  for (const place of places) await backend.end?.(place, 2_000);
  await backend.close(places);
});
