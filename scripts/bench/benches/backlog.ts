import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { formatJson } from "../../../src/store/format-json.ts";
import { unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { atMost, type Bench, type Figure } from "../figure.ts";
import { markAll, sendOne, takeUpResidence } from "../support/life.ts";
import { sample, timeOf } from "../support/samples.ts";
import { benchTeam } from "../support/scratch.ts";
import { aMessage } from "../support/usual-way.ts";

const UNREAD = 5_000;
/** Milliseconds within which one message goes into or comes out of it, 95 times of 100. */
const GOAL_MS = 200;

/** A receiver that was away for long: all of it still waits in the array. */
export const backlog: Bench = {
  name: "backlog",
  title: `An inbox with ${UNREAD.toLocaleString("en")} unread messages`,
  short: false,
  async run(room) {
    const figures: Figure[] = [];
    for (const place of room.places) {
      const { ref } = await benchTeam(place, ["ada", "bob"]);
      await takeUpResidence(ref);
      const unread = Array.from({ length: UNREAD }, () => aMessage(randomUUID()));
      writeFileSync(ref.paths.inbox("bob"), formatJson(unread), { mode: 0o600 });
      const times = room.amount(30, 10);
      const sent = (await sample(times, () => sendOne(ref))).at(0.95);
      const read = (await sample(times, () => unreadMessages(ref, "bob"))).at(0.95);
      const marked = await timeOf(() => markAll(ref));
      figures.push(
        {
          what: `one more delivered, p95, ${place.name}`,
          value: sent,
          unit: "ms",
          goal: atMost(GOAL_MS, "ms", sent),
        },
        {
          what: `all of them read, p95, ${place.name}`,
          value: read,
          unit: "ms",
          goal: atMost(GOAL_MS, "ms", read),
        },
        { what: `all of them read and marked, once, ${place.name}`, value: marked, unit: "ms" },
      );
    }
    return figures;
  },
};
