import type { ShellWords } from "./en.ts";

export const words: ShellWords = {
  "shell.nav": "主导航",
  "shell.home": "sessarc，首页",
  "nav.commands": "命令",
  "shell.menu": "更多",
  "tools.leaks": "{n} 个密钥未处理",
  "sync.last": "{ago}已同步",
  "sync.inSync": "已同步",
  "sync.checked": "上次检查：{ago}",
  "sync.checkedAt": "上次检查",
  "sync.running": "导入中 {share}",
  "sync.scanning": "扫描中…",
  "sync.unreachable": "无法连接",
  "connection.lost": "正在重新连接",
  "connection.now": "立即重试",
  "connection.hint": "服务没有响应。页面上的内容会保留。",
  "connection.back": "已重新连接",
  "sync.hint": "导入有变化的内容",
  "shell.screenLost": "服务恢复后将打开此页面：",
  "shell.screenFailed": "无法加载此页面：",
};
