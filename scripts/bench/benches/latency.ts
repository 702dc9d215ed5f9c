import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import type { Bench, Figure, Place, Setup } from "../figure.ts";
import { atMost, atMostTimes } from "../figure.ts";
import { type Program, started, startProgram, timeOfNode } from "../support/children.ts";
import { Samples, sample, sampleInTurn } from "../support/samples.ts";
import { type BenchTeam, benchTeam, scratch, TEAM } from "../support/scratch.ts";
import { leastDelivery } from "../support/usual-approach.ts";
import { fifoRoundTrip } from "./limits.ts";

/** Milliseconds between two messages, so that none pays for the deferred writes of the previous one. */
const APART_MS = 10;

/** The time from the call until another process has received the message. */
export const latency: Bench = {
  name: "latency",
  title: "Latency of a message",
  short: true,
  async run(setup) {
    const figures: Figure[] = [];
    for (const place of setup.places) {
      const team = await benchTeam(place, ["ada", "bob"]);
      const receiver = startProgram("receiver", team.directory, "bob");
      await receiver.line();
      figures.push(...(await resident(setup, place, team, receiver)));
      if (place === setup.places[0]) figures.push(...(await cold(setup, team, receiver)));
      await receiver.end();
    }
    return figures;
  },
};

async function resident(
  setup: Setup,
  place: Place,
  { ref }: BenchTeam,
  receiver: Program,
): Promise<readonly Figure[]> {
  const took: number[] = [];
  const times = setup.amount(1000, 150);
  for (let turn = 0; turn < times; turn += 1) {
    await setTimeout(APART_MS);
    const begin = process.hrtime.bigint();
    await sendMessage(ref, { from: "ada", to: "bob", text: `${begin}` });
    took.push(await latencyOfNext(receiver, begin));
  }
  const samples = new Samples(took);
  const inbox = join(scratch(place), "inbox.json");
  const least = await sample(times, () => leastDelivery(inbox));
  const fifo = await fifoRoundTrip(place, times);
  const floor = (share: number) => ({
    what: "lock + write + rename + FIFO round trip",
    value: least.at(share) + fifo.at(share),
  });
  return [
    {
      what: `running sender → received, p50, ${place.name}`,
      value: samples.median,
      unit: "ms",
      references: [floor(0.5)],
      goal: atMost(1, "ms", samples.median),
    },
    {
      what: `the same, p99, ${place.name}`,
      value: samples.at(0.99),
      unit: "ms",
      references: [floor(0.99)],
      goal: atMost(5, "ms", samples.at(0.99)),
    },
  ];
}

async function cold(setup: Setup, team: BenchTeam, receiver: Program): Promise<readonly Figure[]> {
  const delivered: number[] = [];
  const send = async (): Promise<number> => {
    const begin = process.hrtime.bigint();
    const words = ["send", "bob", `${begin}`, "--team", TEAM, "--as", "ada"];
    const child = started([join(setup.dist, "teams.cjs"), ...words], {
      env: team.env,
      cwd: team.directory,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const ended = once(child, "exit").then(() => Number(process.hrtime.bigint() - begin) / 1e6);
    delivered.push(await latencyOfNext(receiver, begin));
    return ended;
  };
  const [command, node] = await sampleInTurn(setup.amount(25, 7), [send, () => timeOfNode(["-e", ""])]);
  if (command === undefined || node === undefined) return [];
  const reference = { what: 'node -e ""', value: node.median };
  const arrival = new Samples(delivered).median;
  return [
    {
      what: "teams send as a command → received",
      value: arrival,
      unit: "ms",
      references: [reference],
      goal: atMostTimes(1.5, arrival, reference),
    },
    {
      what: "teams send as a command, from start to end",
      value: command.median,
      unit: "ms",
      references: [reference],
    },
  ];
}

/** Returns the milliseconds from the call until the recipient got its next message. */
async function latencyOfNext(receiver: Program, begin: bigint): Promise<number> {
  const [text, at = "0"] = (await receiver.line()).split(" ");
  if (text !== `${begin}`) throw new Error(`The receiver got ${text} instead of ${begin}.`);
  return Number(BigInt(at) - begin) / 1e6;
}
