import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processBackend } from "../../../src/backend/process-backend.ts";
import { processTable } from "../../../src/os/process/process-table.ts";
import { end, placesOf, requestFor } from "../../support/backend/spawn-requests.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

/** Announces its readiness, answers each ring on descriptor 3 with a ring, and prints the number of rings. */
const RINGS_BACK = `
import { renameSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
const [status, ready] = process.argv.slice(2);
const bell = new Socket({ fd: Number(process.env.TEAMS_BELL_FD), readable: true, writable: true });
let rings = 0;
bell.on("data", () => { rings += 1; console.log("rung " + rings); bell.write("x"); });
bell.on("error", () => {});
bell.on("end", () => console.log("the parent is gone"));
setInterval(() => {}, 1e6);
writeFileSync(status + ".tmp", JSON.stringify({ sessionId: "s", transcript: "t", process: { pid: process.pid, procStart: "0" },
  instance: process.env.TEAMS_INSTANCE, state: "idle", since: 0, startedAt: 0, lastActivityAt: 0 }));
renameSync(status + ".tmp", status);
writeFileSync(ready, "x");
`;

test("process backend › parent and child ring each other over descriptor 3, and the child survives its loss", async () => {
  const t = privateTmux();
  const rings: string[] = [];
  const backend = processBackend({ onChildBell: (instance) => rings.push(instance) });
  onTestFinished(() => backend.release());
  const file = join(t.home, "rings-back.mjs");
  writeFileSync(file, RINGS_BACK);
  const plain = requestFor(t, "one");
  const request = { ...plain, argv: [process.execPath, file, plain.paths.status, plain.paths.ready] };
  const [place] = placesOf(await backend.spawn([request], { kind: "session" }));
  if (place === undefined) throw new Error("no place");
  expect(backend.ringChild(request.instance)).toBe(true);
  await eventually("the answer", () => rings.includes(request.instance));
  expect(await backend.capture(place, 5)).toEqual(["rung 1"]);
  backend.release();
  await eventually(
    "the child to notice",
    async () => (await backend.capture(place, 1))?.[0] === "the parent is gone",
  );
  expect(backend.ringChild(request.instance)).toBe(false);
  expect(await backend.present([place])).toEqual(new Set([request.instance]));
  expect(statSync(request.paths.log).mode & 0o777).toBe(0o600);
  await end(place);
});

test("process backend › starts a child in its own session, out of reach of the caller's terminal signals", async () => {
  const t = privateTmux();
  const [place] = placesOf(await processBackend().spawn([requestFor(t, "one")], { kind: "session" }));
  const row = processTable().find(({ pid }) => pid === place?.panePid);
  expect(row).toMatchObject({ sid: place?.panePid, pgid: place?.panePid });
  if (place !== undefined) await end(place);
});

test("process backend › starts an agent with an empty log, even if the name had one before", async () => {
  const t = privateTmux();
  const backend = processBackend();
  const first = requestFor(t, "one");
  const [one] = placesOf(await backend.spawn([first], { kind: "session" }));
  if (one === undefined) throw new Error("no place");
  await end(one);
  const [two] = placesOf(await backend.spawn([requestFor(t, "one")], { kind: "session" }));
  if (two === undefined) throw new Error("no place");
  await eventually("its output", async () => (await backend.capture(two, 9))?.length === 1);
  expect(await backend.capture(two, 9)).toEqual([`ready: ${two.instance}`]);
  await end(two);
});
