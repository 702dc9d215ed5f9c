import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LEAD_NAME } from "../../src/schema/names.ts";
import { sendMessage } from "../../src/team/mailbox/send.ts";
import { livenessOfAgent, readStatus } from "../../src/team/records/read-records.ts";
import { type TeamRef, teamRef, teamsHome } from "../../src/team/ref.ts";
import { teamsIn } from "../support/processes/built-program.ts";
import { type Disk, MAY_MOUNT, memoryDisk } from "../support/storm/disk.ts";
import { teammatePane } from "../support/team/teammate-pane.ts";
import { eventually } from "../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../support/tmux/private-tmux.ts";
import { personInside } from "../support/tmux/terminal-user.ts";

/** Longer than a page of the file system: the free rest of a file's last page is not enough. */
const LONG = "x".repeat(5_000);
/** Calls whose rows are more than a page of a log. */
const MANY_CALLS = Array.from({ length: 80 }, () => ({
  name: "Bash",
  input: { command: `: ${"z".repeat(80)}` },
}));

const playbook = (t: PrivateTmux) => ({
  version: 1,
  agents: {
    "*": [
      { say: "Ready." },
      { on: { contains: "line with" }, say: "Heard it.", repeat: true },
      {
        on: { contains: "begin" },
        tools: [
          {
            name: "Bash",
            input: {
              command: `cd ${t.home}; touch begun; until [ -e go ]; do sleep 0.05; done; printf %5000s | tr ' ' y`,
            },
          },
          ...MANY_CALLS,
        ],
      },
      { say: "Done." },
    ],
  },
});

interface DiskTeam {
  readonly disk: Disk;
  readonly t: PrivateTmux;
  readonly ref: TeamRef;
}

/** Mounts a small disk for the root of all teams. */
function diskTeam(): DiskTeam {
  const disk = memoryDisk("6m");
  const t = privateTmux({ env: { TEAMS_HOME: disk.path } });
  return { disk, t, ref: teamRef(teamsHome(t.env), "crew") };
}

function conversation(ref: TeamRef, name: string): string {
  const path = readStatus(ref, name)?.transcript;
  return path !== undefined && existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** Returns how many lines of a conversation contain a text. @throws Error if a line is not JSON: a failed write leaves nothing */
function linesWith(ref: TeamRef, name: string, text: string): number {
  const lines = conversation(ref, name).trimEnd().split("\n");
  return lines.map((line) => JSON.stringify(JSON.parse(line))).filter((line) => line.includes(text)).length;
}

const untilIdle = ({ ref }: DiskTeam, name: string) =>
  eventually(`${name} idle`, () => readStatus(ref, name)?.state === "idle");

it.skipIf(!MAY_MOUNT)(
  "a lead on a full disk › keeps a typed line, and answers it once there is space",
  async () => {
    const here = diskTeam();
    const { disk, t, ref } = here;
    writeFileSync(join(t.home, "play.json"), JSON.stringify(playbook(t)));
    const words = ["run", "--team", "crew", "--playbook", "play.json", "--no-sidebar", "first goal"];
    const lead = personInside(t, words);
    await lead.sees("Ready.");
    await untilIdle(here, LEAD_NAME);
    disk.fill(0);
    lead.type(`line with ${LONG}`, "Enter");
    await lead.sees(/the conversation cannot be saved.*\n?.*ENOSPC/);
    expect(livenessOfAgent(ref, LEAD_NAME)).toBe("alive");
    disk.empty();
    await lead.sees("Heard it.");
    await untilIdle(here, LEAD_NAME);
    expect(linesWith(ref, LEAD_NAME, LONG)).toBe(1);
    // The failure is reported once, however often the save is retried.
    expect(lead.screen().match(/the conversation cannot be saved/g)).toHaveLength(1);
    lead.type("/exit", "Enter");
    expect(await lead.code()).toBe(0);
  },
);

it.skipIf(!MAY_MOUNT)(
  "a teammate on a full disk › keeps a typed line, and answers it once there is space",
  async () => {
    const here = diskTeam();
    const { disk, t, ref } = here;
    const { dev } = await teammatePane(t, playbook(t));
    await dev.sees("Ready.");
    await untilIdle(here, "dev");
    disk.fill(0);
    dev.type(`line with ${LONG}`, "Enter");
    await dev.sees(/the conversation cannot be saved.*\n?.*ENOSPC/);
    disk.empty();
    await dev.sees("Heard it.");
    // The status record, which could not be written on the full disk, is written now.
    await untilIdle(here, "dev");
    expect(livenessOfAgent(ref, "dev")).toBe("alive");
    expect(linesWith(ref, "dev", LONG)).toBe(1);
  },
);

it.skipIf(!MAY_MOUNT)(
  "a teammate without a pane on a full disk › waits in its turn, and its log says what is missing",
  async () => {
    const here = diskTeam();
    const { disk, t, ref } = here;
    writeFileSync(join(t.home, "play.json"), JSON.stringify(playbook(t)));
    const teams = teamsIn(t.env, t.home);
    const done = async (...words: string[]) => expect((await teams(words)).code, words.join(" ")).toBe(0);
    await done("create", "crew");
    const place = ["--teammate-mode", "process", "--permission-mode", "bypassPermissions"];
    await done("spawn", "dev", "--model", "scripted:play.json", ...place, "--prompt", "hello");
    // dev is idle before its prompt, too: a message sent then would come in the same turn.
    await eventually("the first turn", () => conversation(ref, "dev").includes("Ready."));
    await untilIdle(here, "dev");
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
    await eventually("the command", () => existsSync(join(t.home, "begun")));
    disk.fill(0);
    writeFileSync(join(t.home, "go"), "");
    await eventually("a line that was cut off", () => !conversation(ref, "dev").endsWith("\n"));
    expect(livenessOfAgent(ref, "dev")).toBe("alive");
    disk.empty();
    await eventually("the end of the turn", () => conversation(ref, "dev").includes("Done."));
    await untilIdle(here, "dev");
    expect(linesWith(ref, "dev", "y".repeat(5_000))).toBe(1);
    expect(livenessOfAgent(ref, "dev")).toBe("alive");
    expect((await teams(["peek", "dev", "--lines", "200"])).out).toMatch(/output is missing here: ENOSPC/);
  },
);
