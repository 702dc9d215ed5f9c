import { existsSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { readPlace } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

it.each(["is gone", "belongs to a later server"])(
  "$TMUX of an ended server › counts as outside tmux when its socket %s",
  async (socket) => {
    const [t, ended] = [privateTmux(), privateTmux()];
    const { TMUX, TMUX_PANE } = ended.inside(ended.session().pane);
    const path = ended.tmux("display-message", "-p", "#{socket_path}");
    await ended.killServer();
    rmSync(path, { force: true });
    if (socket !== "is gone") ended.session();
    const teams = teamsIn({ ...t.env, TMUX, TMUX_PANE }, t.home);
    await teams(["create", "crew"]);
    const spawned = await teams(["spawn", "ada", "--model", "scripted", "--teammate-mode", "tmux"]);
    expect(spawned.code, spawned.err).toBe(0);
    const place = readPlace(teamRef(teamsHome(t.env), "crew"), "ada");
    expect(place).toMatchObject({
      inTeamSession: true,
      server: { socket: t.tmux("display-message", "-p", "#{socket_path}") },
    });
    const { checks } = (await teams(["doctor", "--json"])).json<{
      checks: { name: string; text: string }[];
    }>();
    expect(checks.find(({ name }) => name === "inside tmux")?.text).toContain(
      `$TMUX names a tmux server that has ended (${path})`,
    );
    expect(existsSync(path)).toBe(socket !== "is gone");
    if (socket !== "is gone") expect(ended.tmux("list-panes", "-a", "-F", "#{pane_id}")).toBe(TMUX_PANE);
    await teams(["kill", "crew", "--force"]);
  },
);
