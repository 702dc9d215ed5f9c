import { renameSync, rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { leftMessages, writeHandedOut } from "../../../src/team/mailbox/handed-out.ts";
import { markAsRead, unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { type TeamRef, teamRef, teamsHome } from "../../../src/team/ref.ts";
import { ClientMail } from "../../../src/team-tools/mcp/client-mail.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

async function crew(): Promise<TeamRef> {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef(teamsHome(cli.env), "crew");
  await addMembers(ref, [{ name: "ada", cwd: cli.directory }]);
  return ref;
}

const send = (ref: TeamRef, text: string) => sendMessage(ref, { from: "team-lead", to: "ada", text });
const call = (client: string, lost?: AbortSignal) => ({
  signal: new AbortController().signal,
  client,
  ...(lost === undefined ? {} : { lost }),
});
/** Returns a signal that runs `act` right before the messages of its call are marked. */
const before = (act: () => void): AbortSignal =>
  Object.assign(new AbortController().signal, { throwIfAborted: act });
const textsOf = ({ messages }: Awaited<ReturnType<ClientMail["take"]>>) =>
  messages.map(({ text, again }) => (again === true ? `${text} again` : text));

it("ClientMail › returns a message again to the next client that asks if its answer was not written", async () => {
  const ref = await crew();
  const mail = new ClientMail(ref, "ada");
  await send(ref, "one");
  const lost = new AbortController();
  expect(textsOf(await mail.take(9, call("a", lost.signal)))).toEqual(["one"]);
  lost.abort();
  expect(await mail.waiting()).toBe(1);
  expect(textsOf(await mail.take(9, call("b")))).toEqual(["one again"]);
  await mail.acknowledge("b");
  expect([await mail.waiting(), textsOf(await mail.take(9, call("a")))]).toEqual([0, []]);
});

it("ClientMail › does not count a call of one client as a receipt for the messages of another", async () => {
  const ref = await crew();
  const mail = new ClientMail(ref, "ada");
  await send(ref, "one");
  await mail.take(9, call("a"));
  await mail.acknowledge("b");
  await send(ref, "two");
  expect(textsOf(await mail.take(9, call("b")))).toEqual(["two"]);
  await mail.leave("a");
  expect(textsOf(await mail.take(9, call("b")))).toEqual(["one again"]);
  await mail.acknowledge("b");
  await mail.close();
  expect(leftMessages(ref, "ada", "none")).toEqual({ ids: [], servers: [] });
});

it("ClientMail › marks nothing for a client that has already gone", async () => {
  const ref = await crew();
  const mail = new ClientMail(ref, "ada");
  await send(ref, "one");
  await expect(mail.take(9, call("a", AbortSignal.abort()))).rejects.toThrow();
  await expect(mail.take(9, { signal: AbortSignal.abort(), client: "a" })).rejects.toThrow();
  expect(textsOf(await mail.take(9, call("a")))).toEqual(["one"]);
});

it("ClientMail › returns a message again if its call was cancelled while the message was marked", async () => {
  const ref = await crew();
  const mail = new ClientMail(ref, "ada");
  await send(ref, "one");
  const stop = new AbortController();
  const signal = Object.assign(stop.signal, { throwIfAborted: () => stop.abort() });
  await mail.take(9, { signal, client: "a" });
  expect(await mail.waiting()).toBe(1);
  // The client got no answer, so its next call is not a receipt.
  await mail.acknowledge("a");
  expect(textsOf(await mail.take(9, call("a")))).toEqual(["one again"]);
});

it("ClientMail › keeps a message that did not arrive, even if the next answer fails", async () => {
  const ref = await crew();
  const mail = new ClientMail(ref, "ada");
  await send(ref, "one");
  const lost = new AbortController();
  await mail.take(9, call("a", lost.signal));
  lost.abort();
  await send(ref, "two");
  const { handedOut } = ref.paths.agent("ada");
  const signal = before(() => {
    renameSync(handedOut, `${handedOut}-away`);
    writeFileSync(handedOut, "");
  });
  await expect(mail.take(9, { signal, client: "b" })).rejects.toThrow();
  rmSync(handedOut);
  renameSync(`${handedOut}-away`, handedOut);
  await mail.acknowledge("b");
  expect(textsOf(await mail.take(9, call("b")))).toEqual(["one again", "two"]);
});

it("ClientMail › returns a message again if its call failed after marking it as read", async () => {
  const ref = await crew();
  const mail = new ClientMail(ref, "ada");
  await send(ref, "one");
  await mail.take(9, call("a"));
  await send(ref, "two");
  const { handedOut } = ref.paths.agent("ada");
  const signal = before(() => {
    renameSync(handedOut, `${handedOut}-away`);
    writeFileSync(handedOut, "");
  });
  await expect(mail.take(9, { signal, client: "a" })).rejects.toThrow();
  rmSync(handedOut);
  renameSync(`${handedOut}-away`, handedOut);
  // As if the call had failed only after it marked the message.
  const keys = (await unreadMessages(ref, "ada")).map(({ key }) => key);
  await markAsRead(ref, "ada", keys);
  expect(textsOf(await mail.take(9, call("a")))).toEqual(["two again"]);
});

it("ClientMail › does not count a call that arrives before an answer as its receipt", async () => {
  const ref = await crew();
  const mail = new ClientMail(ref, "ada");
  await send(ref, "one");
  const lost = new AbortController();
  const signal = before(() => queueMicrotask(() => void mail.acknowledge("a")));
  expect(textsOf(await mail.take(9, { signal, client: "a", lost: lost.signal }))).toEqual(["one"]);
  lost.abort();
  expect(textsOf(await mail.take(9, call("b")))).toEqual(["one again"]);
});

it("ClientMail › returns each message once if a member has two servers at the same time", async () => {
  const ref = await crew();
  const servers = [new ClientMail(ref, "ada"), new ClientMail(ref, "ada")];
  for (let at = 0; at < 10; at += 1) await send(ref, `message ${at}`);
  const taken = await Promise.all([0, 1, 2, 3].flatMap(() => servers.map((mail) => mail.take(2, call("a")))));
  const texts = taken.flatMap(textsOf);
  const rest = textsOf(await (servers[0] as ClientMail).take(50, call("a")));
  expect([...texts, ...rest].sort()).toEqual(Array.from({ length: 10 }, (_, at) => `message ${at}`));
});

it("ClientMail › takes over the messages of an ended server, but not of a running one", async () => {
  const ref = await crew();
  await send(ref, "one");
  const running = new ClientMail(ref, "ada");
  await running.take(9, call("a"));
  const next = new ClientMail(ref, "ada");
  expect(textsOf(await next.take(9, call("a")))).toEqual([]);
  await running.close();
  expect(textsOf(await next.take(9, call("a")))).toEqual(["one again"]);
  // A third server gets nothing while the second runs.
  expect(textsOf(await new ClientMail(ref, "ada").take(9, call("a")))).toEqual([]);
});

it("ClientMail › removes a list whose messages do not exist", async () => {
  const ref = await crew();
  writeHandedOut(ref, "ada", "old-1", ["no-such-id"], true);
  const mail = new ClientMail(ref, "ada");
  expect(textsOf(await mail.take(9, call("a")))).toEqual([]);
  expect(leftMessages(ref, "ada", "none").servers).toEqual([]);
});
