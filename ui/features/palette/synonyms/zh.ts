import type { SynonymWords } from "./en.ts";

export const words: SynonymWords = {
  "/": "开始, 概览, 仪表板, 今天, 上周",
  "/projects": "仓库, 文件夹, 代码库",
  "/sessions": "对话, 聊天, 列表, 日历, 历史",
  "/notes": "书签, 标签, 收藏",
  "/usage": "费用, 花费, 支出, 成本, 价格, 账单, 预算, 限额, 额度, Token, 模型, 窗口",
  "/search": "查找, 查询",
  "/tools/secrets": "泄露, 密钥, 机密, 密码, 凭据, Token, 令牌, 守卫, 防护, 规则, 遮盖",
  "/rescue": "备份, 恢复, 删除, 保留, 找回",
  "/shares": "链接, 发布, 撤销, 导出",
  "/tools/skills": "技能, 提示词",
  "/tools/servers": "MCP, 服务器, 服务, 接管",
  "/replay": "重放, 重新运行, 沙盒, 步骤",
  "/import": "添加, 载入, 日志, 扫描",
  "/help": "文档, 指南, 手册",
  "/help/feedback": "问题, 报告, 联系",
  "/settings": "选项, 偏好, 语言, 主题, 价格, 插件, 来源, 关于, 版本",
  "/compare": "比较, 对比, 差异",
  "/files": "删除, 恢复, 找回, 丢失的文件, 早期版本",
  "/calls": "失败, 错误, 工具, 调用",
  why: "为什么, 为何, 由来, 原因, 谁写的, 行",
};
