import { check, type Row } from "./row.ts";

/** A budget in tokens: enough for one call of the fake model, too small for a turn of several calls. */
const BUDGET = "20";

/** Pauses of a member: at its budget, and at a limit of its account. */
export const PAUSES: readonly Row[] = [
  {
    id: "budget",
    text: "`--max-tokens`: it stops at the limit, and continues with more budget",
    limit: 180_000,
    async run({ crew, spawn }) {
      const word = crew.word("budget");
      const steps = [crew.linger(1), crew.linger(2), `do-say: ${word} said`];
      await spawn("bob", steps.join("\n"), "--max-tokens", BUDGET);
      await crew.leadGot("bob has used up its budget", 60_000);
      const isInTurn = !crew.model.said(`${word} said`);
      // Between turns it waits with the next message.
      if (!isInTurn) await crew.ok("send", "bob", `do-say: ${word} again`);
      await crew.state("bob", "paused", 60_000);
      await crew.ok("budget", "bob", "--max-tokens", "1m");
      if (isInTurn) await crew.modelGot("There is budget again", 60_000);
      else await crew.turnEnded(`${word} again`, 60_000);
      await crew.state("bob", "idle");
      await crew.ok("kill", "bob", "--force");
      return isInTurn
        ? "inside its turn"
        : "before its next turn: it reports its tokens at the end of a turn";
    },
  },
  {
    id: "limit",
    text: "a limit of its account: `paused` with its end, one notice, and `teams resume --now` continues it",
    limit: 400_000,
    async run({ crew, spawn }) {
      await spawn("bob", "do-fail: 429 You have hit your usage limit. Try again in 3 hours.");
      // Some programs retry for minutes before their turn fails.
      const { activity } = await crew.state("bob", "paused", 300_000);
      check(/account limit, until \d\d:\d\d/.test(activity ?? ""), "no end of the limit is named", activity);
      await crew.leadGot("The limit of the model's account is reached");
      await crew.ok("resume", "--now", "bob");
      await crew.modelGot("The limit of your account has ended", 60_000);
      await crew.state("bob", "idle", 60_000);
      await crew.ok("kill", "bob", "--force");
    },
  },
];
