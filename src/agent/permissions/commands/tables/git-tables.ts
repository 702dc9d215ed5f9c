import type { Table } from "./table.ts";

/** Strategies that are part of git: for another name, git runs `git-merge-<name>`. */
const STRATEGY = /^(?:ort|recursive|resolve|octopus|ours|subtree)$/;
const STRATEGIES = { "-s": STRATEGY, "--strategy": STRATEGY };

/** The subcommands of a command of git. */
const of = (names: string, options: string): Table => ({
  negates: true,
  options,
  first: new RegExp(`^(?:${names})$`),
});

/** URLs for which git runs `git-remote-<name>`: `ext::sh -c x` runs any program. Source: gitremote-helpers(7). */
const HELPER_URL = /^(?!(?:https?|ftps?|ssh|git|git\+ssh|ssh\+git|file):\/\/)[\w+.-]*:(?::|\/\/)/;

/** A command whose operands may be URLs of other repositories. */
const withUrls = (options: string): Table => ({ negates: true, options, never: HELPER_URL });

/** Keys whose values name no program and no file that git runs or obeys. git finds tools and strategies by their name. */
const PLAIN_KEY =
  /^(?!merge\.(?:gui)?tool$|pull\.(?:twohead|octopus)$|fetch\.bundleuri$)(?:user\.(?:name|email)|init\.defaultbranch|(?:pull|push|fetch|rebase|merge|color|advice|column)\.[\w-]+|core\.(?:autocrlf|eol|safecrlf|filemode|ignorecase|quotepath|abbrev|longpaths|symlinks|commentchar|precomposeunicode)|branch\.[^\s]+\.(?:merge|rebase|description)|commit\.verbose|status\.[\w-]+|diff\.(?:algorithm|renames|colormoved|mnemonicprefix|noprefix)|log\.(?:date|decorate)|rerere\.\w+)$/i;

/** A URL of another machine. In a directory, `git push` would run the hooks of the repository there. */
const OTHER_MACHINE = /^(?:(?:https?|ssh|git|git\+ssh|ssh\+git):\/\/\S+|(?:[\w.-]+@)?[\w.-]+:(?!:|\/\/)\S+)$/;

const REMOTE = "vfpnad|tm verbose push all add delete dry-run tags auto fetch prune";
const FETCH =
  "append atomic force tags jobs= prune prune-tags recurse-submodules[=] dry-run keep update-head-ok progress depth= shallow-since= shallow-exclude= deepen= unshallow refetch update-shallow ipv4 ipv6 set-upstream all verbose quiet show-forced-updates";
const CONFLICTS = "progress merge conflict= ours theirs overlay patch ignore-skip-worktree-bits";

/** Commands of git that change something. Those that only read are in `git-readers.ts`. */
const SUBCOMMANDS: Readonly<Record<string, Table | string>> = {
  add: "nvipefuNA dry-run verbose interactive patch edit force update renormalize intent-to-add all refresh ignore-errors ignore-missing sparse chmod=",
  am: "i3qskucr|Cp 3way quiet signoff keep keep-cr scissors continue resolved skip abort quit whitespace= ignore-whitespace committer-date-is-author-date ignore-date reject",
  apply:
    "3NzRvq|Cp exclude= include= stat numstat summary check index intent-to-add cached apply 3way whitespace= ignore-whitespace ignore-space-change reverse reject recount verbose quiet allow-empty",
  archive: {
    options: "lv0123456789||||o format= prefix= list verbose worktree-attributes",
    // Other formats run the command that the configuration names.
    only: { "--format": /^(?:tar|zip|tgz|tar\.gz)$/ },
  },
  bisect: of(
    "start|good|bad|old|new|reset|log|skip|terms|next|replay",
    "- term-good= term-bad= term-old= term-new= no-checkout first-parent",
  ),
  branch:
    "vqraldDmMcCfi|u|t set-upstream-to= unset-upstream color[=] remotes all delete move copy list show-current create-reflog force merged[=] contains[=] column[=] sort= points-at= ignore-case format= abbrev[=] verbose quiet track[=] recurse-submodules",
  checkout: `lqmdfp23|bB|t guess quiet recurse-submodules[=] detach track[=] force orphan= overwrite-ignore ignore-other-worktrees ${CONFLICTS}`,
  "cherry-pick": {
    negates: true,
    options:
      "nex|mXs quit continue abort skip cleanup= commit no-commit edit signoff mainline= rerere-autoupdate strategy= strategy-option= ff allow-empty allow-empty-message keep-redundant-commits",
    only: { "--strategy": STRATEGY },
  },
  clean: "nqdfixX|e dry-run quiet force interactive exclude=",
  clone: withUrls(
    "vqnls46|job|||uc verbose quiet progress reject-shallow checkout local hardlinks shared recurse-submodules[=] recursive[=] jobs= dissociate origin= branch= depth= shallow-since= shallow-exclude= single-branch tags shallow-submodules ipv4 ipv6 filter= also-filter-submodules remote-submodules sparse",
  ),
  commit:
    "qvsaiopnez|FcCt|u|m|| quiet verbose file= author== date== message== reedit-message= reuse-message= fixup= squash= reset-author trailer== signoff template= edit cleanup= status all include interactive patch only verify dry-run short branch ahead-behind porcelain long null amend no-post-rewrite untracked-files[=] allow-empty allow-empty-message no-gpg-sign",
  config: {
    negates: true,
    options:
      "lz|||| get get-all get-regexp list local global worktree unset unset-all add show-origin show-scope name-only type= bool int path default= all",
    first: new RegExp(`^(?:get|list)$|${PLAIN_KEY.source}`, "i"),
  },
  difftool: "gdy||||tx gui dir-diff prompt symlinks trust-exit-code cached staged",
  fetch: withUrls(
    `vqafmtnpPku46|jo ${FETCH} multiple refmap= server-option= filter= auto-maintenance auto-gc prefetch write-fetch-head write-commit-graph`,
  ),
  "format-patch":
    "#nNkspqz|v|M||o stdout numbered signoff cover-letter subject-prefix= in-reply-to= thread[=] start-number= keep-subject base= root stat zero-commit rfc[=] quiet",
  gc: "q prune[=] quiet aggressive auto force keep-largest-pack cruft",
  help: "ag all guides",
  init: "q|b initial-branch= object-format= quiet shared[=]",
  "interpret-trailers":
    "- trim-empty where= if-exists= if-missing= only-trailers only-input unfold parse divider trailer==",
  "ls-remote": withUrls("qth||||u tags heads branches refs sort= exit-code symref get-url quiet"),
  merge: {
    negates: true,
    options:
      "neqv|XFs||m stat summary log[=] squash commit edit cleanup= ff ff-only rerere-autoupdate strategy= strategy-option= message== file= into-name= verbose quiet abort quit continue allow-unrelated-histories progress autostash overwrite-ignore signoff verify",
    only: STRATEGIES,
  },
  mv: "vnfk verbose dry-run force sparse",
  notes: of(
    "add|append|copy|edit|list|prune|remove|show",
    "fnv|FcC||m message== file= force ref= dry-run verbose",
  ),
  pull: {
    negates: true,
    options: `vqnaftpk46|Xojs|r ${FETCH} rebase[=] stat log[=] squash commit edit cleanup= ff ff-only verify autostash strategy= strategy-option= allow-unrelated-histories`,
    only: STRATEGIES,
    never: HELPER_URL,
  },
  push: {
    negates: true,
    options:
      "vqdnfu46|o all branches mirror delete tags dry-run porcelain force force-with-lease[=] force-if-includes recurse-submodules= thin set-upstream progress prune verify follow-tags atomic push-option= ipv4 ipv6 verbose quiet",
    // In a directory, git runs the hooks of that repository.
    first: /^(?:[\w.@-]+|(?:https?|ssh|git):\/\/\S+|(?:[\w.-]+@)?[\w.-]+:(?!:|\/\/)\S+)$/,
  },
  rebase: {
    negates: true,
    options:
      "qvnfmi|CXs|r||x onto= keep-base verify quiet verbose stat signoff committer-date-is-author-date reset-author-date ignore-date ignore-whitespace whitespace= force-rebase ff continue skip abort quit edit-todo show-current-patch apply merge interactive rerere-autoupdate empty= autosquash update-refs autostash rebase-merges[=] fork-point strategy= strategy-option= root reschedule-failed-exec reapply-cherry-picks exec=!",
    only: STRATEGIES,
  },
  remote: {
    ...of("add|remove|rm|rename|set-url|get-url|show|prune|update|set-head|set-branches", REMOTE),
    never: HELPER_URL,
    subcommands: {
      ...Object.fromEntries(
        "remove rm rename get-url show prune update set-head set-branches"
          .split(" ")
          .map((name) => [name, REMOTE]),
      ),
      add: { negates: true, options: REMOTE, second: OTHER_MACHINE },
      "set-url": { negates: true, options: REMOTE, second: OTHER_MACHINE },
    },
  },
  reset: "qpN quiet refresh mixed soft hard merge keep recurse-submodules[=] patch intent-to-add",
  restore: `SWqmp23|s source= staged worktree ignore-unmerged quiet recurse-submodules[=] ${CONFLICTS}`,
  revert: {
    negates: true,
    options:
      "nes|mX quit continue abort skip cleanup= commit edit signoff mainline= rerere-autoupdate strategy= strategy-option= reference",
    only: { "--strategy": STRATEGY },
  },
  rm: "nqfr dry-run quiet cached force ignore-unmatch sparse",
  "sparse-checkout": of("set|add|list|init|disable|reapply", "- cone sparse-index"),
  stash: of(
    "push|save|pop|apply|list|show|drop|clear|branch|create|store",
    "#pkuaqS|||m patch keep-index include-untracked all quiet staged index message== stat name-only name-status oneline",
  ),
  submodule: {
    ...of(
      "add|status|init|update|deinit|summary|sync|absorbgitdirs|set-branch|set-url",
      "qfN|bj quiet init recursive remote force checkout merge rebase fetch depth= jobs= recommend-shallow progress single-branch filter= cached files all branch= default",
    ),
    never: HELPER_URL,
  },
  switch: `qmdf|cC|t create= force-create= guess discard-changes quiet recurse-submodules[=] detach track[=] force orphan= overwrite-ignore ignore-other-worktrees ${CONFLICTS}`,
  tag: "ldafi|F|n|m list delete annotate message== file= cleanup= force create-reflog column[=] contains[=] merged[=] points-at= sort= format= color[=] ignore-case",
  worktree: of(
    "add|list|lock|move|prune|remove|repair|unlock",
    "fdqvnz|bB force detach checkout quiet track guess-remote lock reason= orphan porcelain verbose dry-run expire=",
  ),
};

export const GIT: Table = {
  source: "git 2.39 and 2.51: the manual page of each command",
  options:
    "P||||cC no-pager no-optional-locks literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-replace-objects git-dir=! work-tree=! namespace=! config-env=! super-prefix=! attr-source=!",
  operands: 1,
  subcommands: SUBCOMMANDS,
};
