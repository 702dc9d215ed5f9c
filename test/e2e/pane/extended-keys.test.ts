import { expect, it, onTestFinished } from "vitest";
import { type FakeMessagesApi, startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { type Person, personInside } from "../../support/tmux/terminal-user.ts";

const ESC = "\u001b";

/** Starts a run whose model answers each message with a number. */
async function run(t: PrivateTmux): Promise<{ readonly api: FakeMessagesApi; readonly person: Person }> {
  let answers = 0;
  const api = await startFakeMessagesApi(() => {
    answers += 1;
    return { kind: "message", blocks: [{ type: "text", text: `Answer ${answers}.` }], usage: {} };
  });
  onTestFinished(() => api.close());
  const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "k" };
  const words = ["run", "--team", "crew", "--model", "sonnet", "--no-sidebar", "first goal"];
  const person = personInside(t, words, { env });
  await person.sees("Answer 1.");
  return { api, person };
}

/** Returns the arguments of `send-keys` that send bytes as they are. */
function bytes(text: string): string[] {
  return ["-H", ...[...Buffer.from(text)].map((byte) => byte.toString(16))];
}

const lastMessage = ({ requests }: FakeMessagesApi): string =>
  JSON.stringify(requests.at(-1)?.body.messages.at(-1));

it.each([
  ["CSI u", "[13;2u", "[32;2u", "[13;5u"],
  ["modifyOtherKeys", "[27;2;13~", "[27;2;32~", "[27;5;13~"],
])(
  "an agent's pane › takes Shift+Enter, Shift+Space and Ctrl+Enter from a terminal with %s, through tmux",
  async (_format, enter, space, send) => {
    const t = privateTmux({ config: "set -s extended-keys always" });
    const { api, person } = await run(t);
    const terminal = await t.attach("=work");
    terminal.type("-l", "one");
    terminal.type(...bytes(`${ESC}${enter}`));
    terminal.type("-l", "two");
    terminal.type(...bytes(`${ESC}${space}`));
    terminal.type("-l", "three");
    await person.sees(/› one\n {2}two three/);
    terminal.type(...bytes(`${ESC}${send}`));
    await person.sees("Answer 2.");
    expect(lastMessage(api)).toContain("one\\ntwo three");
    await person.endsRun();
  },
);

it("an agent's pane › takes modifyOtherKeys from a terminal without tmux in between", async () => {
  const { api, person } = await run(privateTmux());
  person.type(...bytes(`one${ESC}[27;2;13~two${ESC}[27;2;32~three`));
  await person.sees(/› one\n {2}two three/);
  person.type(...bytes(`${ESC}[27;5;13~`));
  await person.sees("Answer 2.");
  expect(lastMessage(api)).toContain("one\\ntwo three");
  await person.endsRun();
});
