import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { messageOf } from "../../../src/errors.ts";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readPlace } from "../../../src/team/records/read-records.ts";
import { IS_FULL } from "../random/extent.ts";
import { SEED } from "../random/seed.ts";
import { seeded } from "../random/seeded-random.ts";
import { type Letter, sendLetter, tearInbox, writeAsForeign } from "./letters.ts";
import { isAlive, MEMBERS, StormTeam, TASKS } from "./storm-team.ts";

/** The number of storms of each kind. */
const ROUNDS = IS_FULL ? 30 : 2;
/** The minimum number of events in one storm, which also lasts until a message is acknowledged. */
const EVENTS = 6;
/** The time limit of a test in milliseconds, on a machine that also runs other tests. */
export const DEADLINE = IS_FULL ? 3_600_000 : 900_000;

export type Random = () => number;
/** Random events by name; each may take some time. */
export type Events = Readonly<Record<string, (random: Random) => unknown>>;

/** Draws from a list. */
function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** Senders and foreign writers, which work while the events happen. */
export class Storm {
  readonly #team: StormTeam;
  readonly #seed: number;
  #count = 0;
  #isOver = false;

  constructor(team: StormTeam, seed: number) {
    this.#team = team;
    this.#seed = seed;
  }

  /** @param writers also lets other programs write into the inboxes */
  async run(events: Events, { writers = true } = {}): Promise<void> {
    // One sequence for each actor: the speed of one does not change the events of another.
    const random = (actor: number) => seeded(this.#seed * 10 + actor + this.#count * 100);
    this.#isOver = false;
    const working = [
      this.#send(random(1)),
      this.#send(random(2)),
      ...(writers ? [this.#write(random(3))] : []),
    ];
    try {
      await this.#disturb(events, random(4));
    } finally {
      this.#isOver = true;
      await Promise.all(working);
    }
  }

  async #disturb(events: Events, random: Random): Promise<void> {
    const before = this.#team.letters.length;
    const isHeard = (): boolean => this.#team.letters.slice(before).some((one) => one.isAcknowledged);
    for (let i = 0; i < EVENTS || !isHeard(); i += 1) {
      await delay(100 + random() * 700);
      const [name, event] = pick(random, Object.entries(events));
      this.#team.note(name);
      await event(random);
    }
    this.#team.note("calm");
  }

  #next(random: Random): Omit<Letter, "isAcknowledged"> {
    this.#count += 1;
    const id = `storm-${this.#count}.`;
    const order = random() < 0.3 ? ` please do ${pick(random, TASKS)}.` : "";
    const to = pick(random, MEMBERS);
    // The lead may reopen a completed task. If it is killed then, the next completion has a notice of its own.
    return { id, text: to === LEAD_NAME ? id : `${id}${order}`, to };
  }

  /** Sends messages, and kills a third of the senders. */
  async #send(random: Random): Promise<void> {
    const { t, letters } = this.#team;
    while (!this.#isOver) {
      const lifeMs = random() < 0.3 ? 20 + random() * 400 : undefined;
      letters.push(await sendLetter(t.env, this.#next(random), lifeMs));
    }
  }

  /** Writes as another program does: with the lock, or torn and without it. */
  async #write(random: Random): Promise<void> {
    const { ref, letters } = this.#team;
    while (!this.#isOver) {
      await delay(random() * 300);
      const letter = this.#next(random);
      if (random() < 0.3) tearInbox(ref.paths.inbox(letter.to));
      else letters.push(await writeAsForeign(ref.paths.inbox(letter.to), letter));
    }
  }
}

/** Kills of all processes but the senders: every storm kills senders. */
export function kills(team: StormTeam): Events {
  const { t, ref } = team;
  const kill = (pid: number | undefined) => isAlive(pid) && signalProcess(pid, "SIGKILL");
  const killAgent = (random: Random) => kill(team.pidOf(pick(random, MEMBERS)));
  return {
    "kill an agent": killAgent,
    "kill another agent": killAgent,
    "kill the lead": () => kill(team.pidOf(LEAD_NAME)),
    "kill a launch script": (random) => kill(readPlace(ref, pick(random, MEMBERS))?.panePid),
    "kill the tmux server": () =>
      spawnSync("tmux", ["-L", t.env.TEAMS_TMUX_SOCKET ?? "", "kill-server"], { env: t.env }),
  };
}

/** Runs storms against a team. After each storm, the team comes to rest and every promise is checked. */
export async function runStorms(
  root: string,
  round: (team: StormTeam, storm: Storm) => Promise<void>,
): Promise<void> {
  const team = new StormTeam(root);
  const storm = new Storm(team, SEED);
  try {
    await team.begin();
    for (let i = 0; i < ROUNDS; i += 1) {
      await round(team, storm);
      await team.calm();
      await team.check();
    }
    await team.completeTasks();
    await team.check();
    expect(team.letters.some(({ isAcknowledged }) => isAcknowledged)).toBe(true);
    await team.end();
  } catch (error) {
    throw new Error(`${messageOf(error)}\n\n${team.eventsAndOutput()}`, { cause: error });
  }
}
