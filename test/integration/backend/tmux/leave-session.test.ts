import { expect, test } from "vitest";
import { leaveOwnSession } from "../../../../src/backend/tmux/leave-session.ts";
import { closeTeamSession, openTeamSession } from "../../../../src/backend/tmux/team-session.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab", teamTitle: "Audit" };

test("a lead's session › returns a viewer to the previous session, and ends the client of a terminal without one", async () => {
  const { t, clients, session, client } = await watchedLead();
  await t.attach(`=${session.name}`);
  const direct = clients().find((line) => !line.startsWith(client));
  expect(direct).toMatch(/ teams-audit$/);
  await closeTeamSession(t.server, session);
  await eventually("the end of the other client", () => clients().length === 1);
  expect(clients()).toEqual([`${client} mine`]);
});

test("a lead's session › returns a viewer before the lead ends, unless another pane stays", async () => {
  const { t, clients, session, client } = await watchedLead();
  const other = t.tmux(
    "split-window",
    "-d",
    "-t",
    session.pane,
    "-P",
    "-F",
    "#{pane_id}",
    "--",
    "env",
    "cat",
  );
  await leaveOwnSession(t.inside(session.pane));
  expect(clients()).toEqual([`${client} teams-audit`]);
  t.tmux("kill-pane", "-t", other);
  // The pane id belongs to another server.
  await leaveOwnSession({
    ...t.inside(session.pane),
    TMUX: t.inside(session.pane).TMUX?.replace(/,\d+,/, ",1,"),
  });
  expect(clients()).toEqual([`${client} teams-audit`]);
  await leaveOwnSession(t.inside(session.pane));
  expect(clients()).toEqual([`${client} mine`]);
});

test("a lead's session › returns a viewer once, even if another process does so meanwhile", async () => {
  const { t, clients, session, client } = await watchedLead();
  // It runs after the clients are listed, and before they are switched.
  t.tmux("set-hook", "-t", "=teams-audit:", "after-list-clients", `switch-client -c ${client} -t =mine:`);
  await leaveOwnSession(t.inside(session.pane));
  t.tmux("set-hook", "-u", "-t", "=teams-audit:", "after-list-clients");
  expect(clients()).toEqual([`${client} mine`]);
});

/** Opens a lead's session, with a user who came from the session `mine`; the session `other` is newer than `mine`. */
async function watchedLead() {
  const t = privateTmux();
  t.session("mine");
  t.session("other");
  await t.attach("=mine:");
  const client = t.tmux("list-clients", "-F", "#{client_name}");
  const session = await openTeamSession(t.server, { ...TEAM, argv: ["env", "cat"], env: t.env });
  t.tmux("switch-client", "-c", client, "-t", session.id);
  const clients = () => t.tmux("list-clients", "-F", "#{client_name} #{client_session}").split("\n");
  return { t, session, client, clients };
}
