import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { formatJson } from "../../../src/os/files/atomic-write.ts";
import { unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { atMost, type Bench, type Figure } from "../figure.ts";
import { markAll, registerRecipient, sendOne } from "../support/message-history.ts";
import { sample, timeOf } from "../support/samples.ts";
import { benchTeam } from "../support/scratch.ts";
import { aMessage } from "../support/usual-approach.ts";

const UNREAD = 5_000;
/** Maximum milliseconds to deliver or read one message, at the 95th percentile. */
const GOAL_MS = 200;

/** The inbox of a recipient that was away for a long time: every message is still in the array. */
export const backlog: Bench = {
  name: "backlog",
  title: `An inbox with ${UNREAD.toLocaleString("en")} unread messages`,
  short: false,
  async run(setup) {
    const figures: Figure[] = [];
    for (const place of setup.places) {
      const { ref } = await benchTeam(place, ["ada", "bob"]);
      await registerRecipient(ref);
      const unread = Array.from({ length: UNREAD }, () => aMessage(randomUUID()));
      writeFileSync(ref.paths.inbox("bob"), formatJson(unread), { mode: 0o600 });
      const times = setup.amount(30, 10);
      const sent = (await sample(times, () => sendOne(ref))).at(0.95);
      const read = (await sample(times, () => unreadMessages(ref, "bob"))).at(0.95);
      const marked = await timeOf(() => markAll(ref));
      figures.push(
        {
          what: `one delivery, p95, ${place.name}`,
          value: sent,
          unit: "ms",
          goal: atMost(GOAL_MS, "ms", sent),
        },
        {
          what: `read all, p95, ${place.name}`,
          value: read,
          unit: "ms",
          goal: atMost(GOAL_MS, "ms", read),
        },
        { what: `read and mark all, once, ${place.name}`, value: marked, unit: "ms" },
      );
    }
    return figures;
  },
};
