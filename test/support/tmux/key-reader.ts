import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readPaneScreen } from "../../../src/adapter/native/type-message.ts";
import { TAG } from "../../../src/backend/tmux/pane-tags.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import type { PlaceRecord } from "../../../src/schema/status.ts";
import type { Screen } from "../../../src/tmux/screen.ts";
import { AGENTS } from "../backend/spawn-requests.ts";
import { eventually } from "../timing/eventually.ts";
import type { PrivateTmux } from "./private-tmux.ts";

/** A program that reads keys, in a pane tagged as an agent's. */
export interface KeyReader {
  readonly pane: string;
  readonly place: PlaceRecord;
  /** The lock that programs hold while they type into it. */
  readonly lock: string;
  /** Its screen while it waits. */
  readonly idleScreen: Screen;
  /** The submitted texts, oldest first. */
  submitted(): string[];
  /** Returns the visible text of its pane. */
  shows(): string;
}

/** @param habits of test/fixtures/agents/reads-keys.mjs */
export async function keyReader(t: PrivateTmux, ...habits: string[]): Promise<KeyReader> {
  const file = join(t.home, `submitted-${randomUUID()}`);
  const argv = [process.execPath, `${AGENTS}reads-keys.mjs`, file, ...habits];
  const pane = t.tmux("new-window", "-d", "-t", "=work:", "-P", "-F", "#{pane_id}", "--", ...argv);
  const place = placeIn(t, pane);
  const shows = (): string => t.tmux("capture-pane", "-p", "-t", pane);
  await eventually("the prompt of the key reader", () => shows().includes("sent 0"));
  const idleScreen = await readPaneScreen(t.server, place);
  if (idleScreen === undefined) throw new Error("The pane has no screen.");
  return {
    pane,
    place,
    lock: join(t.home, `lock-${pane.slice(1)}`),
    idleScreen,
    shows,
    submitted: () => (existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").map(parsed) : []),
  };
}

/** Tags a pane as an agent's. @returns its place record */
export function placeIn(t: PrivateTmux, pane: string): PlaceRecord {
  const instance = randomUUID();
  t.tmux("set-option", "-p", "-t", pane, TAG.agent, instance);
  const facts = t.tmux("display-message", "-p", "-t", pane, "#{pane_pid} #{pid} #{socket_path}").split(" ");
  const [panePid, pid, socket = ""] = [Number(facts[0]), Number(facts[1]), facts[2]];
  return {
    instance,
    backend: "tmux",
    paneId: pane,
    panePid,
    server: { socket, pid, procStart: startTimeOf(pid) ?? "" },
    spawnedAt: 0,
  };
}

function parsed(line: string): string {
  return JSON.parse(line) as string;
}
