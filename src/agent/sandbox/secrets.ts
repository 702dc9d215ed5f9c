import { isReachable } from "../../os/files/access.ts";

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * Places below the home directory that contain logins, keys and private data, by the manuals of the programs that keep
 * them there. A space in a name is written as `+`.
 */
const SECRET_PLACES: readonly string[] = [
  // ssh(1), gpg(1), and the password stores of desktops and people.
  ...words(`.ssh .gnupg .pki .password-store .local/share/keyrings .local/share/kwalletd .config/op .1password
    .config/1Password .config/Bitwarden .config/Bitwarden+CLI .config/keepassxc .config/sops .config/age Library/Keychains`),
  // curl(1), git-credential-store(1), auth-source of Emacs.
  ...words(
    ".netrc _netrc .authinfo .authinfo.gpg .git-credentials .config/git/credentials .config/git/cookies",
  ),
  // Clouds and clusters.
  ...words(`.aws .azure .config/gcloud .boto .s3cfg .config/rclone .kube .minikube .docker/config.json .docker/run .docker/desktop
    .config/containers/auth.json .config/doctl .config/hcloud .config/scw .oci .bluemix .fly .config/heroku .config/netlify
    .vercel .config/configstore .terraform.d/credentials.tfrc.json .terraformrc .vault-token .config/helm/registry
    .colima .lima .rd .orbstack .config/lxc .config/incus .local/share/containers/podman .local/state/teleport .tsh`),
  // Forges and package registries.
  ...words(`.config/gh .config/hub .config/glab-cli .config/tea .npmrc .yarnrc .yarnrc.yml .config/pnpm/rc .pypirc
    .config/pypoetry/auth.toml .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config .m2/settings.xml
    .m2/settings-security.xml .gradle/gradle.properties .composer/auth.json .config/composer/auth.json .nuget/NuGet
    .hex/hex.config .config/stripe .config/sentry .sentryclirc`),
  // Databases.
  ...words(".pgpass .my.cnf .mylogin.cnf .config/mongodb .dbshell .rediscli_auth"),
  // Logins of other agents.
  ...words(`.claude.json .claude/.credentials.json .claude/projects .claude/history.jsonl .codex/auth.json .codex/history.jsonl
    .gemini/oauth_creds.json .config/github-copilot .local/share/opencode/auth.json .config/goose .aider.conf.yml .cursor
    .local/share/cursor-agent .config/cursor .config/Cursor`),
  // Browsers and mail: cookies and saved passwords.
  ...words(`.mozilla .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge .config/vivaldi
    .config/opera .var/app snap .thunderbird .config/evolution .local/share/evolution .config/Signal .config/Slack
    .config/discord .local/share/TelegramDesktop Library/Cookies Library/Mail Library/Messages Library/Safari
    Library/Application+Support/Google/Chrome Library/Application+Support/Firefox Library/Application+Support/Chromium
    Library/Application+Support/BraveSoftware Library/Application+Support/Microsoft+Edge Library/Containers/com.apple.Safari`),
  // Histories of shells and databases, in which people type passwords.
  ...words(`.bash_history .zsh_history .zhistory .history .local/share/fish/fish_history .python_history .node_repl_history
    .psql_history .mysql_history .sqlite_history .lesshst .local/share/zsh/history .zsh_sessions .bash_sessions`),
  // Keys that give access to the display, and sockets that give access to a person's terminals: Xauthority(7), screen(1).
  ...words(".Xauthority .ICEauthority .screen"),
].map((place) => place.replaceAll("+", " "));

/** Secrets of the system, which root can read in the sandbox too. */
const SYSTEM_SECRETS = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private"];

/** Sockets of container engines outside /run. A program that reaches one can have commands run as root, outside. */
const ENGINE_SOCKETS = words(`/var/lib/lxd/unix.socket /var/snap/lxd/common/lxd/unix.socket
  /var/snap/lxd/common/lxd-user/unix.socket /var/lib/incus/unix.socket /var/lib/incus/unix.socket.user`);

/**
 * Returns the paths that are hidden from commands, for a home directory. They need not exist. Leaves out system files that this
 * user cannot read: no program in the sandbox gains rights. Each hidden place costs time.
 */
export function secretPlaces(home: string): readonly string[] {
  const ofSystem = [...SYSTEM_SECRETS, ...ENGINE_SOCKETS].filter(isReachable);
  return [...ofSystem, ...SECRET_PLACES.map((place) => `${home}/${place}`)];
}

/**
 * Variables that lead to something outside: key agents, the session's buses, the screen, terminals, container engines.
 * Their sockets are hidden, too.
 */
const LEADS_OUTSIDE =
  /^(SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_ASKPASS|GIT_ASKPASS|GPG_AGENT_INFO|GPG_TTY|GNOME_KEYRING_CONTROL|DBUS_.*|XDG_RUNTIME_DIR|XDG_SESSION_.*|DISPLAY|WAYLAND_.*|XAUTHORITY|ICEAUTHORITY|SESSION_MANAGER|TMUX.*|STY|ZELLIJ.*|KITTY_.*|ALACRITTY_SOCKET|WEZTERM_.*|ITERM_.*|VSCODE_.*|NVIM|DOCKER_.*|CONTAINER_HOST|KUBECONFIG|KRB5CCNAME|XPC_.*|NOTIFY_SOCKET|LISTEN_.*|TEAMS_BELL_FD)$/;

export function leadsOutside(variable: string): boolean {
  return LEADS_OUTSIDE.test(variable);
}

/** Variables that name a socket, whose file is hidden wherever it is. */
export const SOCKET_VARIABLES = ["SSH_AUTH_SOCK", "KITTY_LISTEN_ON", "ALACRITTY_SOCKET", "NVIM"] as const;

/** Variables of the dynamic loader and the C library, which must not apply to the program that creates the sandbox. */
export function changesLoading(variable: string): boolean {
  return /^(LD_|DYLD_|GLIBC_|GCONV_|MALLOC_|NLSPATH$|LOCPATH$|RES_OPTIONS$|HOSTALIASES$)/.test(variable);
}
